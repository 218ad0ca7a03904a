import { models } from './models.ts'
import { defineProvider, same } from './openai-compatible.ts'
import type { Provider } from './provider.ts'

/**
 * Providers of drawings and music, which process orders asynchronously. `speaks` is empty, so that no other call is sent to them.
 */
const own = (declared: Omit<Parameters<typeof defineProvider>[0], 'speaks' | 'modelsPath'>): Provider =>
  defineProvider({ ...declared, speaks: {}, modelsPath: null })

export const drawing = own({
  id: 2,
  key: 'drawing',
  label: same('Midjourney Proxy'),
  color: 'light-blue',
  baseUrl: 'https://oa.api2d.net',
  addsToPrompts: 'perhaps',
  models: models.drawing,
  tasks: 'drawing',
})

export const drawingPlus = own({
  id: 5,
  key: 'drawing-plus',
  label: same('Midjourney Proxy Plus'),
  color: 'blue',
  baseUrl: 'https://api.openai-sb.com',
  addsToPrompts: 'perhaps',
  models: models.drawingPlus,
  tasks: 'drawing',
})

export const music = own({
  id: 36,
  key: 'music',
  label: same('Suno API'),
  color: 'purple',
  needsBaseUrl: true,
  models: models.music,
  tasks: 'music',
})
