// Heap measurements of a gateway by V8: the bytes that each request allocates, in total and by the functions of Sluice itself, and
// the bytes that are in use.
import { WebSocket } from 'ws'
import { freePort } from '../lib/gateway.mjs'

/** The settings to start a gateway whose heap can be measured, and the port of its inspector. */
export async function inspectable() {
  const port = await freePort()
  // In production a debugger is refused.
  return { port, nodeArgs: [`--inspect=127.0.0.1:${port}`], more: { NODE_ENV: 'development' } }
}

/** Runs `load`, which returns the number of its requests; returns the bytes that each request has allocated. */
export async function allocatedBy(port, load) {
  const inspector = await connect(port)
  const settings = { samplingInterval: 8192, includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }
  await inspector.call('HeapProfiler.startSampling', settings)
  const requests = await load()
  const { profile } = await inspector.call('HeapProfiler.stopSampling')
  inspector.close()
  const byFunction = new Map()
  add(profile.head, byFunction)
  const functions = [...byFunction.values()].sort((a, b) => b.bytes - a.bytes)
  const sum = (some) => some.reduce((total, { bytes }) => total + bytes, 0) / requests
  return {
    all: sum(functions),
    own: sum(functions.filter(({ isOwn }) => isOwn)),
    greatest: functions.slice(0, shown).map(({ name, bytes }) => ({ name, bytes: bytes / requests })),
  }
}

/** The bytes in use after a full collection: JavaScript objects, and the buffers that belong to them. */
export async function liveBytes(port) {
  const inspector = await connect(port)
  // Objects that the first collection finalizes are freed by the second.
  for (let round = 0; round < 2; round++) await inspector.call('HeapProfiler.collectGarbage')
  const { usedSize, backingStorageSize = 0 } = await inspector.call('Runtime.getHeapUsage')
  inspector.close()
  return usedSize + backingStorageSize
}

const shown = 25

function add({ callFrame, selfSize, children }, byFunction) {
  const { functionName, url, lineNumber } = callFrame
  const file = url.slice(url.lastIndexOf('/') + 1)
  const name = `${functionName || '(no name)'} ${file}:${lineNumber + 1}`
  const before = byFunction.get(name) ?? { name, bytes: 0, isOwn: url.includes('/dist/server/') }
  before.bytes += selfSize
  byFunction.set(name, before)
  for (const child of children) add(child, byFunction)
}

/** A connection to the inspector of a process. */
async function connect(port) {
  const [{ webSocketDebuggerUrl }] = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()
  const socket = new WebSocket(webSocketDebuggerUrl, { maxPayload: 512 * 1024 * 1024 })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  const waiting = new Map()
  let last = 0
  socket.on('message', (text) => {
    const { id, result, error } = JSON.parse(String(text))
    const call = waiting.get(id)
    waiting.delete(id)
    if (error) call?.reject(new Error(error.message))
    else call?.resolve(result)
  })
  return {
    call: (method, params = {}) =>
      new Promise((resolve, reject) => {
        waiting.set(++last, { resolve, reject })
        socket.send(JSON.stringify({ id: last, method, params }))
      }),
    close: () => socket.close(),
  }
}
