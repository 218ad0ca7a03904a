/** Passwords that everybody tries first, folded to lower case; only those of an allowed length. */
export const commonPasswords: ReadonlySet<string> = new Set(
  `
!qaz2wsx 00000000 000000000 0000000000 01010101 01020304 0123456789 0987654321 10203040 1020304050 11111111 111111111
1111111111 11112222 11221122 11223344 1122334455 112233445566 12121212 12312312 123123123 123123123a 123123qwe 123321123
12341234 12344321 123454321 1234554321 123456123 12345654321 12345678 123456780 123456788 123456789 1234567890 1234567891
12345678910 123456789a 12345678a 1234567a 123456aa 123456abc 12345qwe 12345qwert 1234abcd 1234qwer 123654789 12369874
123abc123 123qwe123 123qwe456 123qweasd 13131313 13572468 13579135 135792468 1357924680 147258369 147852369 159357159
159753456 159951159 1q2w3e4r 1q2w3e4r5t 1q2w3e4r5t6y 1qaz!qaz 1qaz2wsx 1qaz2wsx3edc 1qaz@wsx 1qazxsw2 22222222 24682468
2wsx3edc 33333333 44444444 520131413 52013145 5201314520 5201314a 55555555 66666666 741852963 77777777 789456123 789654123
87654321 876543210 88888888 888888888 963852741 98765432 987654321 9876543210 99999999 999999999 a1234567 a12345678
a123456789 a1b2c3d4 a1s2d3f4 a5201314 aa123456 aa12345678 aaa12345 aaa123456 aaaaaaaa aaaaaaaaaa abababab abc123123 abc12345
abc123456 abc1234567 abc123abc abcd1234 abcd12345 abcd123456 abcdefg1 abcdefg123 abcdefgh access123 access14 account1
admin123 admin1234 admin12345 admin123456 admin888 admin@123 adminadmin administrator administrator1 alexander alexandra
america1 apikey123 arsenal1 asasasas asd123456 asdasdasd asdf1234 asdf12345 asdfasdf asdfgh12 asdfghjk asdfghjkl asdqwe123
ashley123 australia autumn2024 baby1234 babygirl babygirl1 banana123 barcelona barcelona1 baseball baseball1 basketball
basketball1 batman123 beautiful beautiful1 beijing1 beijing2008 benjamin blessed1 blessing blink182 brazil123 butterfly
butterfly1 canada123 changeit changeme changeme1 changeme123 charlie1 charlie123 chatgpt123 cheese123 chelsea1 chocolate
chocolate1 christian christopher computer computer1 console1 console123 cookie123 corvette daniel123 debian123 december
deepseek deepseek1 default1 default123 deutschland diamond1 diamonds dragon123 elizabeth eminem123 facebook facebook1
february ferrari1 football football1 football12 forever1 fortnite freedom1 friends1 gateway1 gateway123 ginger123 godisgood
golden123 google123 guest123 guestguest handsome happy123 happy1234 hello123 hello1234 hello12345 hello@123 hellohello
helloworld hockey123 hunter123 ilove123 iloveu123 iloveyou iloveyou! iloveyou1 iloveyou2 indonesia internet internet1
january1 jennifer jennifer1 jessica1 jesus123 jesuschrist jonathan jordan23 juventus killer123 letmein! letmein1 letmein12
letmein123 li123456 linuxlinux liverpool liverpool1 login123 loginlogin lovelove lovelove1 loveme123 lovers123 loveyou1
manager1 manager123 manchester marlboro master123 matrix123 maverick mercedes metallica michael1 michelle michelle1
microsoft midnight minecraft minecraft1 monday123 monkey12 monkey123 mountain mustang1 mypassword mypassword1 mysql123
newpassword nicholas nihao123 nihaoma123 ninja123 nintendo nirvana1 november openai123 operator oracle123 orange123 p@55w0rd
p@ssw0rd p@ssw0rd1 p@ssw0rd123 p@ssword p@ssword1 pa$$w0rd pa$$word pa55word pakistan pakistan1 passport passw0rd passw0rd!
passw0rd1 password password! password01 password1 password1! password11 password12 password123 password1234 password12345
password2 password3 password99 password@123 pepper123 pikachu1 platinum playstation pokemon1 pokemon123 porsche911 postgres
postgres1 princess princess1 purple123 q123456789 q1q1q1q1 q1w2e3r4 q1w2e3r4t5 qazqazqaz qazwsx12 qazwsx123 qazwsxedc
qqqqqqqq qwe12345 qwe123456 qweasd123 qweasdzxc qwer1234 qwer12345 qwer123456 qwerty1! qwerty12 qwerty123 qwerty1234
qwerty12345 qwerty123456 qwerty77 qwertyqwerty qwertyui qwertyuiop realmadrid redis123 root1234 root12345 root123456
rootpass rootpassword rootroot s123456789 samantha samantha1 samsung1 samsung123 scorpion scorpion1 secret12 secret123
secrets1 secure123 security security1 september1 server123 service1 shadow123 shanghai1 silver123 singapore slipknot
slipknot1 soccer123 softball spiderman spring2024 spring2025 starwars starwars1 stephanie summer123 summer2023 summer2024
summer2025 sunday123 sunshine sunshine1 superman superman1 support1 sweetheart system123 temp1234 temppass test1234
test12345 testing1 testing123 testtest thomas123 thunder1 toor1234 trustno1 ubuntu123 user1234 user12345 user123456 username
victoria victoria1 volleyball w123456789 wang1234 welcome1 welcome12 welcome123 welcome@123 whatever whatever1 windows1
windows10 windows11 winter123 winter2024 winter2025 woaini123 woaini1314 woaini520 woaiwojia woshishui xiaoming1 xxxxxxxx
yellow123 youtube1 z123456789 z1x2c3v4 zaq12wsx zaq1xsw2 zaq1zaq1 zhang123 zhongguo zxcv1234 zxcvbnm, zxcvbnm1 zxcvbnm123
zxcvbnmm zzzzzzzz
`
    .trim()
    .split(/\s+/),
)
