import { defineTexts } from '../../../lib/i18n.ts'

/** Loaded after a save. */
export const texts = defineTexts({
  zh: {
    title: '{count} 个模型没有价格',
    more: '{models} 等 {count} 个',
    offer: '除自用模式外，调用没有价格的模型会被拒绝。公开价格数据中有其中 {count} 个的价格；采用后即为本站的价格，可随时修改。',
    none: '除自用模式外，调用没有价格的模型会被拒绝。公开价格数据中没有它们的价格，请手动设置。',
    take: '采用 {count} 个公开价格',
    set: '去设置价格',
    later: '以后再说',
    taken: '已采用 {count} 个模型的公开价格',
  },
  en: {
    title: '{count} {count|model has|models have} no price',
    more: '{models} and {count} more',
    offer:
      'Calls to models without a price are refused unless self-use mode is on. The public price data has prices for {count} of these models. You can change them at any time after adding them.',
    none: 'Calls to models without a price are refused unless self-use mode is on. The public price data has no prices for these models; set them manually.',
    take: 'Use public prices for {count}',
    set: 'Set prices',
    later: 'Not now',
    taken: 'Public prices applied to {count} {count|model|models}',
  },
})
