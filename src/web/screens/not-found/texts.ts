import { defineTexts } from '../../lib/i18n.ts'

export const texts = defineTexts({
  zh: {
    title: '页面不存在',
    hint: '请检查你的浏览器地址是否正确',
    forbidden: '没有权限',
    forbiddenHint: '你的账户无权查看此页面；如有需要，请联系管理员。',
    home: '返回首页',
  },
  en: {
    title: 'This page does not exist',
    hint: 'Page does not exist, check your address',
    forbidden: 'No permission',
    forbiddenHint: 'Your account may not see this page; ask the admin if you need it.',
    home: 'Back to the home page',
  },
})
