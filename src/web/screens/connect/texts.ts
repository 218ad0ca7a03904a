import { defineTexts } from '../../lib/i18n.ts'

export const texts = defineTexts({
  title: ['接入', 'Connect'],
  description: ['选择令牌、模型和客户端，复制即用的配置。', 'Select a token, a model and a client, then copy the configuration.'],
  documents: ['接口文档', 'API documentation'],
  choose: ['选择', 'Select'],
  token: ['令牌', 'Token'],
  tokenNone: ['还没有可用的令牌', 'No token available'],
  tokenNoneHint: [
    '先创建一个令牌，再回到这里获取客户端配置。',
    'Create a token first, then return here for the client configuration.',
  ],
  tokenAdd: ['去创建令牌', 'Create token'],
  model: ['模型', 'Model'],
  modelNone: ['没有可用的模型，请联系管理员添加渠道', 'No model available. Ask the admin to add a channel.'],
  modelNotFound: ['没有匹配的模型', 'No matching models'],
  client: ['客户端', 'Client'],

  steps: ['{client} 配置', '{client} configuration'],
  interface: ['使用 {dialect} 接口', 'Uses {dialect}'],
  documentation: ['官方文档', 'Official documentation'],
  tried: ['已于 {date} 用版本 {version} 实测', 'Tested with version {version} on {date}'],
  notTried: ['根据客户端文档整理，尚未实测', 'Based on the client’s documentation, not tested yet'],
  secret: [
    '配置中包含完整的令牌，请勿提交到代码仓库或发给他人。',
    'The configuration contains the full token. Do not commit it or share it.',
  ],

  extra: ['该客户端还会请求其他模型', 'This client also requests other models'],
  extraModel: ['{model}：{use}', '{model}: {use}'],
  extraHint: [
    '以下模型当前不可用，请求会失败。管理员可在渠道的“模型重定向”中填入以下内容，让它们由所选模型应答。',
    'These models are not available, so requests for them fail. Add this to the model mapping of a channel to serve them with the selected model.',
  ],
  extraOwnHint: [
    '以下模型当前不可用，请求会失败。请让管理员在渠道的“模型重定向”中填入以下内容，让它们由所选模型应答。',
    'These models are not available, so requests for them fail. Ask an admin to add this to the model mapping of a channel to serve them with the selected model.',
  ],
  channels: ['前往渠道', 'Go to channels'],

  call: ['首次调用', 'First request'],
  callHint: [
    '由浏览器用所选令牌向本站发送一个真实请求，会产生少量费用。',
    'Your browser sends one real request to this site with the selected token. You are charged a small amount.',
  ],
  question: ['用一句话打个招呼。', 'Say hello in one sentence.'],
  send: ['发送请求', 'Send request'],
  answered: ['已应答', 'Success'],
  refused: ['请求失败（{status}）', 'The request failed ({status})'],
  lost: ['无法连接到服务器，请检查网络后重试', 'Unable to reach the server. Check your network and try again.'],
  answerEmpty: ['（应答没有文字）', '(the response has no text)'],
  rowTokens: ['输入 / 输出', 'Input / output'],
  rowCost: ['费用', 'Cost'],
  rowTime: ['用时', 'Duration'],
  rowLog: ['查看日志', 'View in log'],
})
