import { defineTexts } from '../../lib/i18n.ts'

export const texts = defineTexts({
  notice: ['公告', 'Announcement'],
  lead: [
    '一个地址，通往所有模型。用一把令牌访问各家接口，每一笔花费都有据可查。',
    'One address for every model. One token for every provider, and a bill you can verify line by line.',
  ],
  address: ['接口地址', 'API address'],
  console: ['进入控制台', 'Open console'],
  login: ['登录', 'Log in'],
  serviceStatus: ['服务状态', 'Service status'],
  noticeRead: ['知道了', 'Got it'],
  firstTitle: ['开始使用', 'Getting started'],
  firstHint: ['三步即可得到第一个回答。', 'Get your first response in three steps.'],
  firstDone: ['全部完成，可以使用了。', 'Setup complete. Your gateway is ready.'],
  firstHide: ['不再显示', 'Don’t show again'],
  stepDone: ['已完成', 'Done'],
  stepOpen: ['未完成', 'To do'],
  stepChannel: ['添加渠道', 'Add a channel'],
  stepChannelHint: [
    '渠道是你在上游服务商的账户：选择类型，填写密钥和模型。',
    'A channel connects your account with a provider. Select a type, then enter the key and models.',
  ],
  stepChannelDo: ['添加渠道', 'Add channel'],
  stepToken: ['创建令牌', 'Create a token'],
  stepTokenHint: [
    '程序用令牌（sk-…）访问本站；可以限制额度、模型和来源地址。',
    'Apps call this site with tokens (sk-…). You can limit a token’s quota, models and IP addresses.',
  ],
  stepTokenDo: ['创建令牌', 'Create token'],
  stepCall: ['发出第一个请求', 'Send your first request'],
  stepCallHint: [
    '通过你的渠道真正调用一次模型，按其价格计费。',
    'A real model call through your channel, charged at the model’s price.',
  ],
  stepCallWaits: ['请先添加渠道。', 'Add a channel first.'],
  stepLog: ['查看这笔花费', 'View its cost'],
  firstModel: ['选择模型', 'Select a model'],
  firstSend: ['发送请求', 'Send'],
  firstQuestion: ['请用一句话打个招呼。', 'Say hello in one sentence.'],
  firstChannels: ['检查渠道', 'Check channels'],
  firstPrices: ['检查模型价格', 'Check model prices'],
})
