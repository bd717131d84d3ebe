"""The site: settings, the doors of the web server, pages and charts over the domain in `memory`."""
