import { defineTexts } from '../../lib/i18n.ts'

/** Texts shown before the list or the form is loaded. */
export const headTexts = defineTexts({
  title: ['用户管理', 'Users'],
  description: [
    '查找、创建和管理用户。每次管理操作都会写入日志和审计记录。',
    'Find, add and manage users. Every action is recorded in the log and the audit log.',
  ],
  organisations: ['组织', 'Organisations'],
  addTitle: ['添加用户', 'Add a user'],
  editTitle: ['编辑用户 #{id}', 'Edit user #{id}'],
})
