"""What installs the routines and their tables, upgrades them, and puts right what is amiss."""
