import { useMutation } from '@tanstack/react-query'
import type { ChannelType } from '../../../../contract/entities/channel.ts'
import { call } from '../../../lib/call.ts'
import { useText } from '../../../lib/i18n.ts'
import { toast } from '../../../lib/toast.ts'
import { type ChannelValues, withoutSlash } from './form-values.ts'
import { texts } from './texts.ts'

/** The models that a type proposes, without those that the upstream does not list. */
export function useListedPresets() {
  const say = useText(texts)
  const list = useMutation({
    mutationFn: ({ type, base_url, key }: ChannelValues) =>
      call('POST /api/channel/fetch_models', { body: { type, base_url: withoutSlash(base_url), key } }),
  })

  /** Undefined if the models were chosen by hand or the upstream lists none of them: the models then stay unchanged. */
  async function reduce(values: ChannelValues, type: ChannelType | undefined): Promise<readonly string[] | undefined> {
    if (!type?.lists_models || values.models.join() !== type.newest.join()) return undefined
    // The channel test shows the error of the upstream.
    const listed = new Set(await list.mutateAsync(values).catch(() => []))
    const models = values.models.filter((model) => listed.has(model))
    if (models.length === 0 || models.length === values.models.length) return undefined
    toast.info(say('presetsReduced', { count: models.length, all: values.models.length }))
    return models
  }

  return { reduce, isPending: list.isPending }
}
