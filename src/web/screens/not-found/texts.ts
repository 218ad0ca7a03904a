import { defineTexts } from '../../lib/i18n.ts'

export const texts = defineTexts({
  title: ['页面不存在', 'Page not found'],
  hint: ['请检查你的浏览器地址是否正确', 'Check the address in your browser'],
  forbidden: ['没有权限', 'No permission'],
  forbiddenHint: [
    '你的账户无权查看此页面；如有需要，请联系管理员。',
    'Your account does not have access to this page. Contact the admin if you need it.',
  ],
  home: ['返回首页', 'Go to home page'],
})
