"""Notebooks on a real Jupyter kernel."""

import asyncio

import nbformat
import zmq.asyncio
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient


class Notebook:
    """A notebook in a folder, on a kernel of its own from `async with` on."""

    def __init__(self, folder, *cells):
        self.folder = folder
        self.cells = [nbformat.v4.new_code_cell(cell) for cell in cells]
        self._client = NotebookClient(
            nbformat.v4.new_notebook(cells=self.cells),
            # Over files in its own folder: nobody else on the machine can listen.
            km=AsyncKernelManager(
                kernel_name="python3",
                transport="ipc",
                connection_file=str(folder / "kernel.json"),
                context=zmq.asyncio.Context(),
            ),
            timeout=300,
            allow_errors=True,
            resources={"metadata": {"path": str(folder)}},
        )

    async def __aenter__(self):
        await self._client.async_start_new_kernel()
        await self._client.async_start_new_kernel_client()
        return self

    async def __aexit__(self, *_):
        self._client.kc.stop_channels()
        await self._client.km.shutdown_kernel(now=True)
        # Sockets that are left open would be warnings.
        self._client.km.context.destroy(linger=0)

    async def run(self, number=0):
        """Runs a cell; returns its outputs."""
        cell = await self._client.async_execute_cell(self.cells[number], number)
        return cell.outputs

    async def interrupt(self):
        await self._client.km.interrupt_kernel()

    def calls(self):
        path = self.folder / "calls"
        return len(path.read_text()) if path.exists() else 0

    async def asked(self, enough, running):
        """Waits until the judge was called that often."""
        while self.calls() < enough:
            assert not running.done(), running.result()
            await asyncio.sleep(0.005)
