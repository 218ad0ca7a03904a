import { defineTexts } from '../../../lib/i18n.ts'

/** Loaded after a save. */
export const texts = defineTexts({
  title: ['{count} 个模型没有价格', '{count} {count|model has|models have} no price'],
  more: ['{models} 等 {count} 个', '{models} and {count} more'],
  offer: [
    '除自用模式外，调用没有价格的模型会被拒绝。公开价格数据中有其中 {count} 个的价格；采用后即为本站的价格，可随时修改。',
    'Calls to models without a price are refused unless self-use mode is on. The public price data has prices for {count} of these models. You can change them at any time after adding them.',
  ],
  none: [
    '除自用模式外，调用没有价格的模型会被拒绝。公开价格数据中没有它们的价格，请手动设置。',
    'Calls to models without a price are refused unless self-use mode is on. The public price data has no prices for these models; set them manually.',
  ],
  take: ['采用 {count} 个公开价格', 'Use public prices for {count}'],
  set: ['去设置价格', 'Set prices'],
  later: ['以后再说', 'Not now'],
  taken: ['已采用 {count} 个模型的公开价格', 'Public prices applied to {count} {count|model|models}'],
})
