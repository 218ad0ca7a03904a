import { defineTexts } from '../../lib/i18n.ts'

export const webhookTexts = defineTexts({
  title: ['Webhook', 'Webhooks'],
  hint: [
    '把与该组织有关的事件发送到你的服务器：预算提醒、提高预算的申请、已支付的订单。',
    'Send events of this organisation to a server of yours: budgets that reach a share, requests for greater budgets, and paid orders.',
  ],
  add: ['添加 Webhook', 'Add webhook'],
  editOf: ['编辑 {name}', 'Edit {name}'],
  empty: ['没有 Webhook', 'No webhooks'],
  name: ['名称', 'Name'],
  target: ['目标', 'Target'],
  state: ['状态', 'Status'],
  failing: ['持续失败', 'Failing'],
  events: ['事件', 'Events'],
  test: ['发送测试消息', 'Send test message'],
  delivered: ['已送达', 'Delivered'],
  notDelivered: ['未送达', 'Not delivered'],
  statusOf: ['状态 {status}', 'status {status}'],
  edit: ['编辑', 'Edit'],
  enable: ['启用', 'Enable'],
  disable: ['禁用', 'Disable'],
  delete: ['删除', 'Delete'],
  deleteTitle: ['删除该 Webhook？', 'Delete this webhook?'],
  deleteBody: ['等待发送的消息一并删除。', 'Messages that wait for it are deleted too.'],
  deleted: ['已删除“{name}”', '“{name}” deleted'],
  saved: ['已保存“{name}”', '“{name}” saved'],
})
