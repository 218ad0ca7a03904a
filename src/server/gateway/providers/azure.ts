import { addressPiece } from './address-piece.ts'
import { models, newest } from './models.ts'
import { adjustForOpenai } from './openai.ts'
import { allPaths, defineProvider, pathOf, same, withModel } from './openai-compatible.ts'
import { passedHeaders } from './passed-headers.ts'
import type { Provider } from './provider.ts'
import { prefersResponses } from './responses.ts'

/** Used when the channel has no version of its own. */
const defaultApiVersion = '2024-12-01-preview'
/** The Responses endpoint was added in this version, and has the deployment in the body. */
const responsesApiVersion = '2025-04-01-preview'

/**
 * Azure serves deployments, not models: the deployment has the name of the (mapped) model. Azure writes `gpt-35-turbo`. An address
 * that ends in `/openai/v1` is the newer interface without an API version.
 */
export const azure: Provider = defineProvider({
  id: 3,
  key: 'azure',
  label: same('Azure OpenAI'),
  color: 'teal',
  docs: 'https://learn.microsoft.com/azure/ai-services/openai/reference',
  needsBaseUrl: true,
  models: models.openai,
  newest: newest.azure,
  priceVendor: 'azure',
  namesDeployments: true,
  traceName: 'azure.ai.openai',
  otherLabel: {
    zh: `默认 API 版本（留空为 ${defaultApiVersion}）`,
    en: `Default API version (empty for ${defaultApiVersion})`,
  },
  speaks: allPaths,
  url(channel, format, model) {
    const path = pathOf(allPaths, format).replace('/v1', '')
    if (channel.baseUrl.endsWith('/openai/v1')) return withModel(channel.baseUrl + path, format, model)
    if (path.startsWith('/responses'))
      return `${channel.baseUrl}/openai${path}?api-version=${encodeURIComponent(channel.other || responsesApiVersion)}`

    const deployment = addressPiece(model.replace('gpt-3.5', 'gpt-35'))
    const version = encodeURIComponent(channel.other || defaultApiVersion)
    if (format === 'openai.realtime') return `${channel.baseUrl}/openai/realtime?api-version=${version}&deployment=${deployment}`
    const deployments = channel.baseUrl.startsWith('https://gateway.ai.cloudflare.com') ? '' : '/openai/deployments'
    return `${channel.baseUrl}${deployments}/${deployment}${path}?api-version=${version}`
  },
  headers: (channel, _format, caller) => ({ 'api-key': channel.key, ...passedHeaders('openai', channel, caller) }),
  prefers: prefersResponses,
  adjustBody: adjustForOpenai,
  forChannel: ({ baseUrl }) => (baseUrl.endsWith('/openai/v1') ? azure : deployed),
  modelsPath: null,
})

/** The deployment in the URL selects the model: a form that also has a `model` is refused. Source: protocols notes 2.3. */
const deployed: Provider = {
  ...azure,
  adjustBody: (body, format, model) =>
    format === 'openai.transcriptions' || format === 'openai.translations'
      ? { model: undefined }
      : adjustForOpenai(body, format, model),
}
