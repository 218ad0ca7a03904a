import { versionOf } from '../protocols/replicate-predict/models.ts'
import { addressPieces } from './address-piece.ts'
import { bearer, defineProvider, joinUrl, same } from './openai-compatible.ts'

/**
 * Models are `owner/name`, and community models `owner/name:version`. A prediction is waited for as long as Replicate allows; callers
 * who requested a stream get it as one.
 */
export const replicate = defineProvider({
  id: 56,
  key: 'replicate',
  label: same('Replicate'),
  color: 'grey',
  docs: 'https://replicate.com/docs/reference/http',
  baseUrl: 'https://api.replicate.com',
  keyFormat: same('r8_…'),
  speaks: { 'replicate.predict': '/v1/predictions' },
  url(channel, _format, model) {
    const official = `/v1/models/${addressPieces(model)}/predictions`
    return joinUrl(channel.baseUrl, versionOf(model) === undefined ? official : '/v1/predictions')
  },
  headers: (channel) => ({ ...bearer(channel.key), prefer: 'wait=60' }),
  modelsPath: null,
})
