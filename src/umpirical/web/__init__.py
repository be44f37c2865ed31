"""What every local web application shares: guards, limits, sessions, and the server."""
