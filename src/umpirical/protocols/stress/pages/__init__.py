"""The stress report as a folder of HTML pages."""
