import { useMutation } from '@tanstack/react-query'
import type { Channel } from '../../../../contract/entities/channel.ts'
import { call } from '../../../lib/call.ts'
import { toast } from '../../../lib/toast.ts'
import { type ChannelValues, withoutSlash } from './form-values.ts'

/** Lists the upstream's models: with the saved channel if the form is unchanged, otherwise with the form's values. */
export function useFetchModels(channel: Channel | undefined) {
  return useMutation({
    mutationFn: ({ type, base_url, key }: ChannelValues) => {
      const baseUrl = withoutSlash(base_url)
      const isSaved = channel && key.trim() === '' && type === channel.type && baseUrl === channel.base_url
      if (isSaved) return call('GET /api/channel/fetch_models/:id', { params: { id: channel.id } })
      return call('POST /api/channel/fetch_models', { body: { type, base_url: baseUrl, key } })
    },
    onError: toast.failure,
  })
}
