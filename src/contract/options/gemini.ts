import { option, section, type Zod } from './define.ts'
import { mapWithDefault, message } from './shapes.ts'

const threshold = (z: Zod) => z.string().regex(/^[A-Z_]{1,64}$/)
const apiVersion = (z: Zod) =>
  z
    .string()
    .refine(
      (text) => /^v[0-9][a-z0-9]{0,20}$/.test(text),
      message('须为 v1 或 v1beta 这样的版本', 'must be a version like v1 or v1beta'),
    )

export const gemini = section(
  { name: 'gemini', tab: 'models', label: { zh: 'Gemini设置', en: 'Gemini settings' }, writer: 'admin' },
  {
    'gemini.safety_settings': option({
      default: { default: 'OFF', HARM_CATEGORY_CIVIC_INTEGRITY: 'BLOCK_NONE' },
      schema: mapWithDefault(threshold, 'OFF'),
      widget: 'text-map',
      label: { zh: 'Gemini安全设置', en: 'Gemini safety settings' },
      help: {
        zh: '安全类别到阈值的映射，default 为默认值。',
        en: 'Maps safety categories to thresholds. “default” applies to all others.',
      },
    }),
    'gemini.version_settings': option({
      default: { default: 'v1beta', 'gemini-1.0-pro': 'v1' },
      schema: mapWithDefault(apiVersion, 'v1beta'),
      widget: 'text-map',
      label: { zh: 'Gemini版本设置', en: 'Gemini API version' },
      help: {
        zh: '上游模型到接口版本的映射，default 为默认值。',
        en: 'Maps upstream models to API versions. “default” applies to all others.',
      },
    }),
  },
)
