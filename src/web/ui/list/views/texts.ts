import { defineTexts } from '../../../lib/i18n.ts'

export const texts = defineTexts({
  views: ['已保存的视图', 'Saved views'],
  none: [
    '还没有保存的视图。设好筛选、排序和列，即可存为视图。',
    'No saved views yet. Set filters, sort order and columns, then save them here.',
  ],
  save: ['保存当前视图…', 'Save this view…'],
  manage: ['管理视图…', 'Manage views…'],
  saveTitle: ['保存当前视图', 'Save this view'],
  saveHint: [
    '保存筛选、排序和显示的列；以“几天前”开始的时间会随日期移动。视图随账户保存，换浏览器也可用。',
    'Saves filters, sort order and columns. Time ranges relative to today move with the date. Views belong to your account and are available in every browser.',
  ],
  name: ['名称', 'Name'],
  isDefault: ['打开列表时默认使用', 'Use this view by default'],
  saved: ['视图已保存', 'View saved'],
  deleted: ['已删除视图“{name}”', 'View “{name}” deleted'],
  manageTitle: ['管理视图', 'Manage views'],
  replace: ['用当前列表替换', 'Replace with current list'],
  makeDefault: ['设为默认', 'Make default'],
  dropDefault: ['取消默认', 'Remove as default'],
  defaultMark: ['默认', 'Default'],
  delete: ['删除', 'Delete'],
  deleteTitle: ['删除此视图？', 'Delete this view?'],
  rename: ['重命名', 'Rename'],
})
