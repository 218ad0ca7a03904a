import { defineTexts } from '../../../lib/i18n.ts'

/** Loaded when the models of an upstream are picked. */
export const texts = defineTexts({
  zh: {
    title: '选择上游的模型',
    search: '搜索模型',
    view: '显示范围',
    view_all: '全部 {count}',
    view_fresh: '未添加 {count}',
    view_unlisted: '上游未列出 {count}',
    all: '选择这 {count} 个',
    new: '新',
    none: '没有匹配的模型',
    more: '还有 {count} 个，请用搜索缩小范围',
    apply: '使用所选模型',
    cancel: '取消',
    chosen: '已选 {count} 个',
  },
  en: {
    title: 'Select upstream models',
    search: 'Search models',
    view: 'Show',
    view_all: 'All {count}',
    view_fresh: 'Not added {count}',
    view_unlisted: 'No longer listed {count}',
    all: 'Select these {count}',
    new: 'new',
    none: 'No matching models',
    more: '{count} more; search to narrow down',
    apply: 'Use selected models',
    cancel: 'Cancel',
    chosen: '{count} selected',
  },
})
