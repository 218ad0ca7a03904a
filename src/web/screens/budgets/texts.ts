import { defineTexts } from '../../lib/i18n.ts'

export const texts = defineTexts({
  title: ['预算', 'Budgets'],
  description: [
    '限制用户、分组、令牌、模型或渠道在一个周期内的费用。',
    'Limit how much a user, group, token, model or channel may spend per day, month or other period.',
  ],
  ownDescription: [
    '限制您的令牌在一个周期内的费用；管理员设置的预算也在此列出。',
    'Limit how much your tokens may spend per day, month or other period. Budgets set by an admin are shown too.',
  ],
  add: ['添加预算', 'Add budget'],
  first: ['添加第一个预算', 'Add your first budget'],
  edit: ['编辑预算', 'Edit budget'],
  empty: ['没有预算', 'No budgets'],
  emptyHint: ['达到预算后请求会被拒绝，或仅提醒。', 'A budget refuses calls once it is used up, or only sends a notification.'],
  scope: ['类型', 'Type'],
  choose: ['搜索并选择', 'Search'],
})
