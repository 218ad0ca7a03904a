import { defineTexts } from '../../../lib/i18n.ts'

export const texts = defineTexts({
  add: ['添加规格', 'Add a rate'],
  model: ['模型', 'Model'],
  modelPlaceholder: ['例如 veo-3.1-*', 'e.g. veo-3.1-*'],
  resolution: ['分辨率', 'Resolution'],
  anyResolution: ['全部', 'All'],
  sound: ['声音', 'Sound'],
  any: ['不区分', 'Either'],
  with: ['有声', 'With'],
  without: ['无声', 'Without'],
  usd: ['价格（美元）', 'Price (USD)'],
  per: ['单位', 'Unit'],
  second: ['每秒', 'per second'],
  clip: ['每条', 'per clip'],
  usual: ['通常时长（秒）', 'Usual length (s)'],
  longest: ['最长（秒）', 'Longest (s)'],
  of: ['（第 {index} 行）', '(line {index})'],
  usualClip: ['{seconds} 秒一条 {usd} 美元', 'a clip of {seconds} s costs {usd} USD'],
  sameModel: ['同一模型', 'same model'],
})
