import type { Channel } from '../../../../contract/entities/channel.ts'

/** The form of a tag. Only the tag is filled in at first: empty fields stay unchanged in each channel. */
interface TagValues {
  new_tag: string
  models: string[]
  groups: string[]
  model_mapping: string
  priority: number | string
  weight: number | string
}

export function tagValues(tag: string): TagValues {
  return { new_tag: tag, models: [], groups: [], model_mapping: '', priority: '', weight: '' }
}

/** The changes to send; undefined when there are none. */
export function patchOf(tag: string, { new_tag, models, groups, model_mapping, priority, weight }: TagValues) {
  const changes = {
    ...(new_tag.trim() === tag ? {} : { new_tag: new_tag.trim() }),
    ...(models.length === 0 ? {} : { models: models.join(',') }),
    ...(groups.length === 0 ? {} : { groups: groups.join(',') }),
    ...(model_mapping.trim() === '' ? {} : { model_mapping }),
    ...(priority === '' ? {} : { priority: Number(priority) }),
    ...(weight === '' ? {} : { weight: Number(weight) }),
  }
  return Object.keys(changes).length === 0 ? undefined : { tag, ...changes }
}

type Shared = 'models' | 'group' | 'priority' | 'weight'

/** The common value of all channels, as text; undefined if they differ. */
export function commonOf(channels: readonly Channel[]): Readonly<Record<Shared, string | undefined>> {
  const common = (name: Shared) => {
    const values = new Set(channels.map((channel) => String(channel[name])))
    return values.size === 1 ? [...values][0] : undefined
  }
  return { models: common('models'), group: common('group'), priority: common('priority'), weight: common('weight') }
}
