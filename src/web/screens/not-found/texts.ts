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
    title: 'Page not found',
    hint: 'Check the address in your browser',
    forbidden: 'No permission',
    forbiddenHint: 'Your account does not have access to this page. Contact the admin if you need it.',
    home: 'Go to home page',
  },
})
