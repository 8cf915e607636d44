// Much code of templates, with exceptions and what they unwind.
#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

struct shape {
  virtual ~shape() {}
  virtual double area() const = 0;
};

struct square : shape {
  double side;
  explicit square(double s) : side(s) {}
  double area() const override { return side * side; }
};

std::map<std::string, std::vector<std::string>> words(const std::string &text, const std::string &pattern) {
  std::map<std::string, std::vector<std::string>> found;
  std::regex expression(pattern);
  for (std::sregex_iterator i(text.begin(), text.end(), expression), end; i != end; ++i)
    found[(*i)[0]].push_back(i->suffix());
  return found;
}

double total(const std::vector<std::unique_ptr<shape>> &all, std::function<bool(const shape &)> use) {
  double sum = 0;
  for (auto &s : all)
    if (use(*s)) sum += s->area();
  if (sum < 0) throw std::runtime_error("negative");
  return sum;
}

std::string sorted(std::vector<std::string> all) {
  std::sort(all.begin(), all.end(), [](const std::string &a, const std::string &b) { return a.size() < b.size() || (a.size() == b.size() && a < b); });
  std::ostringstream out;
  try {
    for (auto &s : all) out << s.at(0) << s.substr(1) << '\n';
  } catch (const std::out_of_range &) {
    return "empty";
  }
  return out.str();
}

int kind(int k, const std::string &s) {
  switch (k) {
  case 0: return s.empty();
  case 1: return std::stoi(s);
  case 2: return static_cast<int>(s.size());
  case 3: return s.front();
  case 4: return s.back();
  case 5: return std::count(s.begin(), s.end(), 'x');
  }
  return -1;
}
