import { useQuery } from '@tanstack/react-query'
import { read } from '../../lib/query.ts'
import { useSession } from '../../lib/session.ts'
import { storedJson } from '../../lib/stored.ts'

/** What a request of the playground is made with, besides the conversation. */
export interface Settings {
  readonly group: string
  readonly model: string
  readonly temperature: number
  /** 0 leaves the limit to the model. */
  readonly max_tokens: number
  /** The system prompt; empty for none. */
  readonly system: string
}

export const temperatureRange = { min: 0.1, max: 1, step: 0.1 } as const

const first: Settings = { group: '', model: '', temperature: 1, max_tokens: 0, system: '' }
const kept = storedJson<Settings>('playground', first, isSettings)

function isSettings(value: unknown): value is Settings {
  if (typeof value !== 'object' || value === null) return false
  const fields: Readonly<Record<string, unknown>> = { ...value }
  return Object.entries(first).every(([name, sample]) => typeof fields[name] === typeof sample)
}

/** The settings kept in this browser, with a group and model that can be chosen now, or none. */
export function useSettings() {
  const groups = useQuery(read('GET /api/user/self/groups'))
  const models = useQuery(read('GET /api/user/models'))
  const ownGroup = useSession()?.group ?? ''
  const settings = kept.use()

  const names = groups.data && Object.keys(groups.data)
  const group = !names || names.includes(settings.group) ? settings.group : names.includes(ownGroup) ? ownGroup : (names[0] ?? '')
  const model = !models.data || models.data.includes(settings.model) ? settings.model : ''
  return {
    groups,
    models,
    settings: { ...settings, group, model: model || (models.data?.length === 1 ? (models.data[0] ?? '') : '') },
    change: (patch: Partial<Settings>) => kept.write({ ...kept.read(), ...patch }),
  }
}

export type Choices = ReturnType<typeof useSettings>
