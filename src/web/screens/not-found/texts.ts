import { defineTexts } from '../../lib/i18n.ts'

export const texts = defineTexts({
  title: ['页面不存在', 'Page not found'],
  hint: ['请检查你的浏览器地址是否正确', 'Check the address in your browser'],
  forbidden: ['没有权限', 'No permission'],
  forbiddenHint: [
    '你的账户无权查看此页面；如有需要，请联系管理员。',
    'Your account does not have access to this page. Contact the admin if you need it.',
  ],
  otherPayer: ['当前组织没有此页面', 'Not available for this organisation'],
  otherPayerHint: [
    '此页面属于个人账户或站点，或者你在组织中的角色无权查看。',
    'This page is about your personal account or the site, or your role in the organisation does not include it.',
  ],
  usePersonal: ['切换到个人账户', 'Use personal account'],
  home: ['返回首页', 'Go to home page'],
})
