import { defineTexts } from '../../../lib/i18n.ts'

/** Loaded with the part of the screen that shows them. */
export const texts = defineTexts({
  description: [
    '与公开价格数据中各厂商的官方价格比较，由你决定采用哪些。单位：美元 / 1M tokens。',
    'Compares your prices with the vendors’ official prices in the public price data. You decide which to use. USD per 1M tokens.',
  ],
  hint: [
    '比较所有已设价格的模型和渠道中的模型；采用之前不会改变任何价格。',
    'Compares all priced models and all channel models. No price changes until you apply it.',
  ],
  compare: ['查询价格差异', 'Compare prices'],
  model: ['模型', 'Model'],
  input: ['输入', 'Input'],
  output: ['输出', 'Output'],
  cache_read: ['缓存读取', 'Cache read'],
  cache_write: ['缓存写入', 'Cache write'],
  cache_audio_read: ['音频缓存读取', 'Cached audio'],
  cache_image_read: ['图片缓存读取', 'Cached images'],
  audio_input: ['音频输入', 'Audio input'],
  audio_output: ['音频输出', 'Audio output'],
  image_input: ['图片输入', 'Image input'],
  image_output: ['图片输出', 'Image output'],
  video_output: ['视频输出', 'Video output'],
  steps: [
    '提示超过 {count} Token 的价格，对所有提示收取',
    'The price of prompts over {count} {count|token|tokens}, applied to all prompts',
  ],
  perCall: ['{usd}/次', '{usd} per call'],
  becomes: ['改为', 'changes to'],
  search: ['搜索模型或厂商', 'Search by model or vendor'],
  view: ['显示范围', 'Show'],
  all: ['全部差异', 'All differences'],
  up: ['涨价', 'More expensive'],
  down: ['降价', 'Cheaper'],
  unpriced: ['尚未按量定价', 'No per-token price'],
  selectAll: ['选择全部 {count} 个', 'Select all {count}'],
  accept: ['采用所选价格', 'Use selected prices'],
  acceptTitle: ['采用 {count} 个模型的公开价格？', 'Use public prices for {count} {count|model|models}?'],
  acceptBody: [
    '新的请求立即按新价格计费；按次计费的模型将改为按量计费。正在进行的请求不受影响。',
    'New requests are charged by these prices immediately. Models with a price per call are charged per token from then on. Running requests keep their price.',
  ],
  accepted: ['已采用 {count} 个模型的价格', 'Prices of {count} {count|model|models} applied'],
  drafts: [
    '上方的模型倍率有未保存的修改，请先保存或撤销。',
    'The model ratios above have unsaved changes. Save or undo them first.',
  ],
  empty: ['没有价格差异', 'No differences'],
  emptyHint: ['所有能在公开数据中找到的模型，价格都与之一致。', 'All models in the public price data have the same prices here.'],
})
