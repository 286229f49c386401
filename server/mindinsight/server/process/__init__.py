"""The server's process: starting and stopping it, its sockets and logs."""
