import { defineTexts } from '../../../lib/i18n.ts'

/** Loaded when the models of an upstream are picked. */
export const texts = defineTexts({
  title: ['选择上游的模型', 'Select upstream models'],
  search: ['搜索模型', 'Search models'],
  view: ['显示范围', 'Show'],
  view_all: ['全部 {count}', 'All {count}'],
  view_fresh: ['未添加 {count}', 'Not added {count}'],
  view_unlisted: ['上游未列出 {count}', 'No longer listed {count}'],
  all: ['选择这 {count} 个', 'Select these {count}'],
  new: ['新', 'new'],
  none: ['没有匹配的模型', 'No matching models'],
  more: ['还有 {count} 个，请用搜索缩小范围', '{count} more; search to narrow down'],
  apply: ['使用所选模型', 'Use selected models'],
  cancel: ['取消', 'Cancel'],
  chosen: ['已选 {count} 个', '{count} selected'],
})
