"""What calls the routines: one method each, over whatever connection the application has."""
