import { defineTexts } from '../../lib/i18n.ts'

export const allowanceTexts = defineTexts({
  title: ['成员权限', 'Permissions'],
  hint: [
    '组织、团队及其下级、或单个成员的令牌可以做什么。同时适用时以最严格的为准，修改立即生效。',
    'What tokens of the organisation, of a team with all below it, or of one member may do. The narrowest applies, and changes take effect immediately.',
  ],
  none: ['没有限制', 'No restrictions'],
  noneHint: [
    '成员可以使用全部模型和分组，令牌数量和有效期不限。',
    'Members may use all models and groups, and any number of tokens that never expire.',
  ],
  add: ['添加限制', 'Add restriction'],
  edit: ['编辑', 'Edit'],
  editOf: ['编辑 {name} 的权限', 'Edit permissions of {name}'],
  place: ['适用于', 'Applies to'],
  models: ['模型', 'Models'],
  groups: ['分组', 'Groups'],
  tokens: ['令牌数', 'Tokens'],
  days: ['有效天数', 'Days'],
  strict: ['严格转换', 'Strict'],
  any: ['不限', 'Any'],
  yes: ['是', 'Yes'],
  no: ['否', 'No'],
  lift: ['取消限制', 'Remove restriction'],
  liftTitle: ['取消此处的限制？', 'Remove this restriction?'],
  liftBody: ['上级的限制仍然有效。', 'Those of places above still apply.'],
  lifted: ['限制已取消', 'Restriction removed'],
  saved: ['已保存', 'Saved'],
  choose: ['请选择', 'Select one'],
  numberInvalid: ['须为非负整数', 'A non-negative whole number'],
})
