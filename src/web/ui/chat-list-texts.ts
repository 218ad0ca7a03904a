import { defineTexts } from '../lib/i18n.ts'

export const texts = defineTexts({
  zh: {
    add: '添加聊天页面',
    addKnown: '添加 {name}',
    known: '常用：',
    name: '名称',
    link: '链接',
    of: '（第 {index} 项）',
    namePlaceholder: '我的聊天页面',
    moveUp: '上移',
    insert: '插入 {place}',
    opens: '打开：',
    without: '链接中没有 {key}，打开时不会带上令牌。',
  },
  en: {
    add: 'Add a chat page',
    addKnown: 'Add {name}',
    known: 'Popular:',
    name: 'Name',
    link: 'Link',
    of: '(no. {index})',
    namePlaceholder: 'My chat page',
    moveUp: 'Move up',
    insert: 'Insert {place}',
    opens: 'Opens:',
    without: 'The link contains no {key}, so it opens without a token.',
  },
})
