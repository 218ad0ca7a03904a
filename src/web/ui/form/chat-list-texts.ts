import { defineTexts } from '../../lib/i18n.ts'

export const texts = defineTexts({
  add: ['添加聊天页面', 'Add a chat page'],
  addKnown: ['添加 {name}', 'Add {name}'],
  known: ['常用：', 'Popular:'],
  name: ['名称', 'Name'],
  link: ['链接', 'Link'],
  of: ['（第 {index} 项）', '(no. {index})'],
  namePlaceholder: ['我的聊天页面', 'My chat page'],
  moveUp: ['上移', 'Move up'],
  insert: ['插入 {place}', 'Insert {place}'],
  opens: ['打开：', 'Opens:'],
  without: ['链接中没有 {key}，打开时不会带上令牌。', 'The link contains no {key}, so it opens without a token.'],
})
