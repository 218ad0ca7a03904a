import { defineTexts } from '../../lib/i18n.ts'

export const texts = defineTexts('login', {
  zh: {
    welcome: '登录 {name}',
    username: '用户名/邮箱',
    password: '密码',
    submit: '登录',
    success: '登录成功！',
    required: '请输入用户名和密码！',
    expired: '未登录或登录已过期，请重新登录',
    passwordLoginOff: '管理员已关闭密码登录',
  },
  en: {
    welcome: 'Log in to {name}',
    username: 'Username or e-mail',
    password: 'Password',
    submit: 'Log in',
    success: 'Login succeeded',
    required: 'Please enter username and password',
    expired: 'Not logged in or login has expired, please log in again',
    passwordLoginOff: 'The admin has turned password login off',
  },
})
