import { expect, it } from 'vitest'
import { startServer } from './helpers/app.ts'
import { collectGarbage } from './helpers/collect-garbage.ts'

it('a stopped server is not retained in the memory of its process', async () => {
  const afterStop = async () => {
    const server = await startServer('sqlite')
    await server.call('GET /api/status')
    await server.stop()
    return new WeakRef(server.app)
  }
  const apps = [await afterStop(), await afterStop()]
  const kept = () => {
    collectGarbage()
    return apps.filter((app) => app.deref() !== undefined).length
  }
  await expect.poll(kept).toBe(0)
})
