import { defineTexts } from '../../lib/i18n.ts'

/** The texts that lists need immediately. */
export const tagTexts = defineTexts({
  record: ['记录调用…', 'Record calls…'],
  recorded: ['记录中', 'Recording'],
  recordedUntil: [
    '调用内容（请求与回复）正在被加密记录，至 {time}',
    'Requests and responses are recorded (encrypted) until {time}',
  ],
  recordedShare: ['每 1000 次调用中记录 {share} 次，至 {time}', '{share} of 1,000 calls are recorded until {time}'],
})
