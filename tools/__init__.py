"""What those need who change the project: no part of the package."""
