import { defineTexts } from '../../../lib/i18n.ts'

/** Loaded with the dialog. */
export const texts = defineTexts({
  zh: {
    title: '测试“{name}”',
    hint: '每次测试会向上游发送一个很小的请求。',
    search: '搜索或输入模型',
    found: '共 {count} 个模型',
    none: '渠道的模型中没有匹配的，可以直接测试输入的名称',
    default: '默认',
    seconds: '{seconds} 秒',
    test: '测试',
    testFound: '依次测试这些模型',
    stop: '停止',
  },
  en: {
    title: 'Test “{name}”',
    hint: 'Each test sends a very small request to the upstream.',
    search: 'Search or enter a model',
    found: '{count} {count|model|models}',
    none: 'No matching models in this channel. You can test the entered name directly.',
    default: 'Default',
    seconds: '{seconds} s',
    test: 'Test',
    testFound: 'Test one by one',
    stop: 'Stop',
  },
})
