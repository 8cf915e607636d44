import asyncio

async def main():
    server = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
    await server.serve_forever()

asyncio.run(main())
