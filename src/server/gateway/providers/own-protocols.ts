import { models } from './models.ts'
import { defineProvider, same } from './openai-compatible.ts'
import type { Provider } from './provider.ts'
import { familyVideos } from './videos/family.ts'
import { kling as klingVideos } from './videos/kling.ts'
import { vidu as viduVideos } from './videos/vidu.ts'

/**
 * Providers of drawings, music and clips alone, which process orders asynchronously. `speaks` is empty, so that no other call is sent to them.
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

export const kling = own({
  id: 50,
  key: 'kling',
  label: { zh: '可灵 Kling', en: 'Kling' },
  color: 'pink',
  docs: 'https://app.klingai.com/global/dev/document-api',
  baseUrl: 'https://api.klingai.com',
  models: models.kling,
  keyFormat: { zh: 'Access Key|Secret Key', en: 'Access key|secret key' },
  videos: klingVideos,
})

export const vidu = own({
  id: 52,
  key: 'vidu',
  label: same('Vidu'),
  color: 'teal',
  docs: 'https://platform.vidu.com/docs',
  baseUrl: 'https://api.vidu.com',
  models: models.vidu,
  videos: viduVideos,
})

/** Other gateways of this family, which may serve any vendor's models. */
export const videoHost = own({
  id: 59,
  key: 'video-host',
  label: { zh: '视频网关（/v1/video/generations）', en: 'Video gateway (/v1/video/generations)' },
  color: 'grey',
  needsBaseUrl: true,
  models: models.videoHost,
  videos: familyVideos,
})
