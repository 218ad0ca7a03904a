import { option, section } from './define.ts'
import { lines, toggle } from './shapes.ts'

export const moderation = section(
  { name: 'moderation', tab: 'operation', label: { zh: '屏蔽词过滤设置', en: 'Sensitive word filtering' }, writer: 'admin' },
  {
    CheckSensitiveEnabled: option({
      ...toggle(true),
      label: { zh: '启用屏蔽词过滤功能', en: 'Enable sensitive word filtering' },
      help: { zh: '以下所有检查的总开关。', en: 'Main switch for the checks below.' },
    }),
    CheckSensitiveOnPromptEnabled: option({
      ...toggle(true),
      label: { zh: '启用 Prompt 检查', en: 'Check prompts' },
      help: {
        zh: '提示中含有屏蔽词的请求会被拒绝，不计费。',
        en: 'Refuses requests whose prompt contains a sensitive word, without a charge.',
      },
    }),
    CheckSensitiveOnCompletionEnabled: option({
      ...toggle(false),
      label: { zh: '启用生成内容检查', en: 'Check completions' },
      help: { zh: '检查模型生成的文字。', en: 'Checks the text that models generate.' },
    }),
    StopOnSensitiveEnabled: option({
      ...toggle(true),
      label: { zh: '检测到屏蔽词时停止生成', en: 'Stop at sensitive words' },
      help: {
        zh: '生成内容命中屏蔽词时立即中止；关闭则以星号代替该词并继续。',
        en: 'Stops a completion at a sensitive word. When off, the word is replaced by asterisks and the completion continues.',
      },
    }),
    SensitiveWords: option({
      ...lines(['test_sensitive']),
      label: { zh: '屏蔽词列表', en: 'Sensitive words' },
      help: { zh: '一行一个屏蔽词。', en: 'One word per line.' },
    }),
  },
)
