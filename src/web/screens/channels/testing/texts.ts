import { defineTexts } from '../../../lib/i18n.ts'

/** Loaded with the dialog. */
export const texts = defineTexts({
  title: ['测试“{name}”', 'Test “{name}”'],
  hint: ['每次测试会向上游发送一个很小的请求。', 'Each test sends a very small request to the upstream.'],
  search: ['搜索或输入模型', 'Search or enter a model'],
  found: ['共 {count} 个模型', '{count} {count|model|models}'],
  none: [
    '渠道的模型中没有匹配的，可以直接测试输入的名称',
    'No matching models in this channel. You can test the entered name directly.',
  ],
  default: ['默认', 'Default'],
  seconds: ['{seconds} 秒', '{seconds} s'],
  test: ['测试', 'Test'],
  testFound: ['依次测试这些模型', 'Test one by one'],
  stop: ['停止', 'Stop'],
})
