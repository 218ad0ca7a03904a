import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { callWhole } from '../../../lib/call.ts'
import { invalidate } from '../../../lib/query.ts'

/** The state of a model's test: waiting, passed in so many seconds, or failed for a reason. */
export type ModelTest = 'waiting' | { readonly seconds: number } | { readonly reason: string }

/** Tests of a channel's models, one after the other; a test requested while one runs is queued. */
export function useModelTests(channelId: number) {
  const client = useQueryClient()
  const [tests, setTests] = useState<ReadonlyMap<string, ModelTest>>(new Map())
  const queue = useRef<string[]>([])
  // Closing the dialog cancels the rest.
  useEffect(() => () => void queue.current.splice(1), [])
  const note = (model: string, test: ModelTest) => setTests((old) => new Map(old).set(model, test))

  async function work(): Promise<void> {
    for (let model = queue.current[0]; model !== undefined; model = queue.current[0]) {
      note(model, await testModel(channelId, model))
      queue.current.shift()
    }
    // A failed test also stores a response time, and may have disabled the channel.
    await invalidate(client, ['GET /api/channel/search'])
  }

  return {
    tests,
    run(models: readonly string[]): void {
      const fresh = models.filter((model) => !queue.current.includes(model))
      const isIdle = queue.current.length === 0
      for (const model of fresh) note(model, 'waiting')
      queue.current.push(...fresh)
      if (isIdle && fresh.length > 0) void work()
    },
    /** Removes tests that have not begun. */
    stop(): void {
      const left = queue.current.splice(1)
      setTests((old) => new Map([...old].filter(([model]) => !left.includes(model))))
    },
    isRunning: [...tests.values()].includes('waiting'),
  }
}

async function testModel(id: number, model: string): Promise<ModelTest> {
  try {
    const { time } = await callWhole('POST /api/channel/test/:id', { params: { id }, query: { model } })
    return { seconds: time }
  } catch (cause) {
    return { reason: cause instanceof Error ? cause.message : String(cause) }
  }
}
