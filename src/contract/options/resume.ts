import { units } from '../units.ts'
import { option, section } from './define.ts'
import { integer, toggle } from './shapes.ts'

export const resume = section(
  { name: 'resume', tab: 'models', label: { zh: '断线续传', en: 'Resumable streams' }, writer: 'admin' },
  {
    'resume.enabled': option({
      ...toggle(true),
      label: { zh: '允许续传流式应答', en: 'Let streams be resumed' },
      help: {
        zh: '请求带有 x-sluice-resume: 1 或自选的 Idempotency-Key 时，断线后可从 Last-Event-ID 继续，只计费一次。其他请求在断线时照常停止。',
        en: 'A request with x-sluice-resume: 1 or an Idempotency-Key of its own choice can be continued from Last-Event-ID after a cut, and is charged once. Other requests stop when their caller disconnects.',
      },
    }),
    'resume.grace_seconds': option({
      ...integer(60, { min: 1, max: 3600, unit: units.seconds }),
      label: { zh: '断线后继续读取', en: 'Go on without a caller for' },
      help: {
        zh: '超过后视为调用方已离开，按已生成的部分计费。',
        en: 'Afterwards the caller counts as gone, and what was produced is charged.',
      },
    }),
    'resume.kept_minutes': option({
      ...integer(10, { min: 1, max: 1440, unit: units.minutes }),
      label: { zh: '应答保存时长', en: 'Keep answers for' },
      help: { zh: '加密保存，从应答结束时算起。', en: 'Stored encrypted, counted from the end of the answer.' },
    }),
  },
)
