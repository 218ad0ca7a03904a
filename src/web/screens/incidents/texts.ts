import { defineTexts } from '../../lib/i18n.ts'

export const texts = defineTexts({
  title: ['事件与维护', 'Incidents'],
  description: ['显示在状态页上的故障说明与计划维护。', 'Incidents and planned maintenance shown on the status page.'],
  statusPage: ['查看状态页', 'View status page'],
  add: ['新建', 'New incident'],
  first: ['新建第一个事件', 'Create the first incident'],
  emptyTitle: ['还没有事件', 'No incidents yet'],
  emptyHint: [
    '发生故障或计划维护时在此说明，读者会在状态页看到。',
    'Report a problem or planned maintenance. Visitors see it on the status page.',
  ],
  search: ['搜索标题', 'Search titles'],
  kind: ['类型', 'Type'],
  stateFilter: ['进展', 'Progress'],
  open: ['未结束', 'Ongoing'],
  ended: ['已结束', 'Ended'],

  id: ['ID', 'ID'],
  name: ['标题', 'Title'],
  state: ['状态', 'Status'],
  affects: ['影响范围', 'Affects'],
  all: ['全部', 'Everything'],
  starts: ['开始时间', 'Start'],
  ends: ['结束时间', 'End'],
  lastUpdate: ['最新说明', 'Last update'],
  author: ['创建人', 'Author'],

  addTitle: ['新建事件或维护', 'New incident or maintenance'],
  editTitle: ['编辑“{title}”', 'Edit “{title}”'],
  updateTitle: ['更新“{title}”', 'Update “{title}”'],
  endNeeded: ['请填写晚于开始时间的结束时间', 'Enter an end time after the start'],
  publish: ['发布', 'Publish'],
  publishUpdate: ['发布更新', 'Publish update'],
  saved: ['已保存', 'Saved'],
  published: ['已发布到状态页', 'Published on the status page'],

  edit: ['编辑', 'Edit'],
  delete: ['删除', 'Delete'],
  deleted: ['已删除“{title}”', 'Deleted “{title}”'],
  deleteTitle: ['删除此事件？', 'Delete this incident?'],
  deleteBody: [
    '事件及其全部更新会从状态页消失。此修改不可逆。',
    'The incident and all its updates are removed from the status page. This cannot be undone.',
  ],
  history: ['已发布的说明', 'Published updates'],
})
