"""Requests and answers of the API, a module for each of its nouns; all but this file is generated."""
