import { defineTexts } from '../../lib/i18n.ts'

/** Texts shown before the list or the form is loaded. */
export const headTexts = defineTexts({
  title: ['渠道', 'Channels'],
  description: [
    '渠道是网关背后的上游。请求先走优先级最高的渠道，同一优先级按权重分配。',
    'Channels are the upstreams behind this gateway. Requests go to the channels with the highest priority, distributed by weight.',
  ],
  addTitle: ['创建新的渠道', 'Create channel'],
  editTitle: ['更新渠道信息', 'Edit channel'],
})
