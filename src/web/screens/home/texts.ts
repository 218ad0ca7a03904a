import { defineTexts } from '../../lib/i18n.ts'

export const texts = defineTexts('home', {
  zh: {
    notice: '公告',
    lead: '一个地址，通往所有模型。用一把令牌访问各家接口，每一笔花费都有据可查。',
    address: '接口地址',
    console: '进入控制台',
    login: '登录',
  },
  en: {
    notice: 'Announcement',
    lead: 'One address for every model. One key for every provider, and a bill that can be checked line by line.',
    address: 'API address',
    console: 'Open the console',
    login: 'Log in',
  },
})
