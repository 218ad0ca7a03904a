import { defineTexts } from '../../lib/i18n.ts'

/** The texts that lists need immediately. */
export const tagTexts = defineTexts({
  zh: {
    record: '记录调用…',
    recorded: '记录中',
    recordedUntil: '调用内容（请求与回复）正在被加密记录，至 {time}',
    recordedShare: '每 1000 次调用中记录 {share} 次，至 {time}',
  },
  en: {
    record: 'Record calls…',
    recorded: 'Recording',
    recordedUntil: 'Requests and responses are recorded (encrypted) until {time}',
    recordedShare: '{share} of 1,000 calls are recorded until {time}',
  },
})
