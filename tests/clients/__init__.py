"""Clients in other languages than Python, as their users have them."""
