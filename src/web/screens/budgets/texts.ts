import { defineTexts } from '../../lib/i18n.ts'

export const texts = defineTexts({
  zh: {
    title: '预算',
    description: '限制用户、分组、令牌、模型或渠道在一个周期内的费用。',
    ownDescription: '限制您的令牌在一个周期内的费用；管理员设置的预算也在此列出。',
    add: '添加预算',
    first: '添加第一个预算',
    edit: '编辑预算',
    empty: '没有预算',
    emptyHint: '达到预算后请求会被拒绝，或仅提醒。',
    scope: '类型',
    choose: '搜索并选择',
  },
  en: {
    title: 'Budgets',
    description: 'Limit how much a user, group, token, model or channel may spend per day, month or other period.',
    ownDescription: 'Limit how much your tokens may spend per day, month or other period. Budgets set by an admin are shown too.',
    add: 'Add budget',
    first: 'Add your first budget',
    edit: 'Edit budget',
    empty: 'No budgets',
    emptyHint: 'A budget refuses calls once it is used up, or only sends a notification.',
    scope: 'Type',
    choose: 'Search',
  },
})
