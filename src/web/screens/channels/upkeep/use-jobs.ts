import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ChannelJob } from '../../../../contract/entities/channel.ts'
import { read, useWrite } from '../../../lib/query.ts'

const everyMs = 1000

/** The jobs over all channels that this page shows: those seen running, and those that it started. */
export interface Jobs {
  readonly watched: readonly ChannelJob[]
  /** Whether upstreams' model lists were ever read, without which there are no changes. */
  readonly knowsModels: boolean
  readonly isRunning: (name: JobName) => boolean
  readonly start: (name: JobName) => void
  readonly dismiss: () => void
}

type JobName = 'test-channels' | 'refresh-balances' | 'check-models'

export function useJobs(): Jobs {
  const { data: jobs = [] } = useQuery({
    ...read('GET /api/channel/jobs'),
    refetchInterval: ({ state }) => (state.data?.some(isRunning) ? everyMs : false),
  })
  // By name: the start of the last run that is no longer shown.
  const [since, setSince] = useState<Readonly<Record<string, number>>>({})
  const fresh = jobs.filter(({ name }) => isRunningIn(jobs, name) && since[name] === undefined)
  const startOf = (name: string) => jobs.find((job) => job.name === name)?.started_at ?? 0
  if (fresh.length > 0) setSince({ ...since, ...Object.fromEntries(fresh.map(({ name, started_at }) => [name, started_at - 1])) })

  const begin = { invalidates: ['GET /api/channel/jobs'] } as const
  const starts = {
    'test-channels': useWrite('POST /api/channel/test', begin),
    'refresh-balances': useWrite('POST /api/channel/update_balance', begin),
    'check-models': useWrite('POST /api/channel/model_changes', begin),
  }
  return {
    watched: jobs.filter(({ name, started_at }) => started_at > (since[name] ?? Number.POSITIVE_INFINITY)),
    knowsModels: startOf('check-models') > 0,
    isRunning: (name) => starts[name].isPending || isRunningIn(jobs, name),
    start(name) {
      setSince({ ...since, [name]: startOf(name) })
      starts[name].mutate({})
    },
    dismiss: () => setSince(Object.fromEntries(jobs.map(({ name, started_at }) => [name, started_at]))),
  }
}

function isRunning({ outcome }: ChannelJob): boolean {
  return outcome === 'running'
}

function isRunningIn(jobs: readonly ChannelJob[], name: string): boolean {
  return jobs.some((job) => job.name === name && isRunning(job))
}
