import { useQuery } from '@tanstack/react-query'
import { read } from '../../lib/query.ts'
import { useSession } from '../../lib/session.ts'
import { storedJson } from '../../lib/stored.ts'
import { areStates, firstStates, type ParameterStates } from './parameters.ts'

/** Settings of a question. */
export interface Settings {
  readonly group: string
  /** One, or up to three that answer side by side; '' is not chosen yet. */
  readonly models: readonly string[]
  readonly parameters: ParameterStates
  /** The system prompt; empty for none. */
  readonly system: string
}

export const modelsMax = 3

const first: Settings = { group: '', models: [''], parameters: firstStates, system: '' }
const kept = storedJson<Settings>('playground', first, isSettings)

function isSettings(value: unknown): value is Settings {
  if (typeof value !== 'object' || value === null) return false
  const { group, models, parameters, system }: Partial<Record<keyof Settings, unknown>> = value
  return typeof group === 'string' && typeof system === 'string' && areModels(models) && areStates(parameters)
}

function areModels(value: unknown): boolean {
  return (
    Array.isArray(value) && value.length >= 1 && value.length <= modelsMax && value.every((model) => typeof model === 'string')
  )
}

/** The settings stored in this browser, with a group and models that can be chosen now, or none. */
export function useSettings() {
  const groups = useQuery(read('GET /api/user/self/groups'))
  const models = useQuery(read('GET /api/user/models'))
  const ownGroup = useSession()?.group ?? ''
  const settings = kept.use()

  const names = groups.data && Object.keys(groups.data)
  const group = !names || names.includes(settings.group) ? settings.group : names.includes(ownGroup) ? ownGroup : (names[0] ?? '')
  const only = models.data?.length === 1 ? (models.data[0] ?? '') : ''
  const chosen = settings.models.map((model) => (!models.data || models.data.includes(model) ? model : '') || only)
  return {
    groups,
    models,
    settings: { ...settings, group, models: chosen },
    change: (patch: Partial<Settings>) => kept.write({ ...kept.read(), ...patch }),
  }
}

export type Choices = ReturnType<typeof useSettings>
